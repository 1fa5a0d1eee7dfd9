#!/usr/bin/env node
// Starts gate. It finds the package with the programs for this platform, holds them to the
// checksums of this package, and passes on arguments, streams, signals and the exit status.
//
// The checksums find a broken or mixed installation. They stop nobody who can write this file.
'use strict'

const { spawn } = require('node:child_process')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const tty = require('node:tty')

const args = process.argv.slice(2)

// A hook that could not judge ends with 2, which agents take as a denial; any other status
// but 0 would let the call run.
const hook = args[0] === 'hook'

// This holds for errors that nobody foresaw, too.
process.on('uncaughtException', (error) => {
  fs.writeSync(2, `gate: ${String(error.message).split('\n')[0]}\n`)
  process.exit(hook ? 2 : 1)
})

const { name, version } = require('../package.json')
const checksums = require('../checksums.json') // of each platform: file name to SHA-256
const platform = `${process.platform}-${process.arch}`

const programs = directory()
verify(programs)
start(path.join(programs, process.platform === 'win32' ? 'gate.exe' : 'gate'))

// directory returns where the programs for this platform are.
function directory() {
  if (!Object.hasOwn(checksums, platform)) {
    throw new Error(`${name} has no programs for ${platform}, only for ${Object.keys(checksums).join(', ')}`)
  }
  const wanted = `${name}-${platform}`
  try {
    return path.join(path.dirname(require.resolve(`${wanted}/package.json`)), 'bin')
  } catch {
    throw new Error(`the package ${wanted}, which has the programs, is not installed: ` +
      `install ${name} again on this machine, with optional dependencies (without --omit=optional or --no-optional)`)
  }
}

// verify holds all programs to their checksums, since gate starts and installs the others.
function verify(dir) {
  for (const [file, wanted] of Object.entries(checksums[platform])) {
    const program = path.join(dir, file)
    let sum
    try {
      sum = sha256(program)
    } catch (error) {
      throw new Error(`${program} cannot be read (${error.code}): install ${name} again`)
    }
    if (sum !== wanted) {
      throw new Error(`${program} is not the program of ${name} ${version}, so nothing was started: ` +
        `its SHA-256 is ${sum}, not ${wanted}; install ${name} again`)
    }
  }
}

function sha256(file) {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(1 << 20)
  const fd = fs.openSync(file, 'r')
  try {
    for (let n; (n = fs.readSync(fd, buffer)) > 0;) hash.update(buffer.subarray(0, n))
  } finally {
    fs.closeSync(fd)
  }
  return hash.digest('hex')
}

// start runs a program in this process's place, as far as Node can. Handlers of signals come
// first: without them a signal would end this process, and leave the program alone.
function start(program) {
  // A terminal sends its signals to the program, too: passed on, they would arrive twice.
  const terminal = [0, 1, 2].some((fd) => tty.isatty(fd))
  for (const signal of ['SIGINT', 'SIGQUIT']) process.on(signal, () => terminal || child.kill(signal))
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  const child = spawn(program, args, { stdio: 'inherit' })
  child.on('exit', (status, signal) => {
    if (signal && hook) throw new Error(`${program} was ended by ${signal} before it answered, so this does not run`)
    process.exit(signal ? 128 + os.constants.signals[signal] : status)
  })
  child.on('error', (error) => {
    throw new Error(error.code === 'EACCES'
      ? `${program} is not executable, or its file system forbids programs: install ${name} again, elsewhere if need be`
      : `${program} cannot be started (${error.code})`)
  })
}
