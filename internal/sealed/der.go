package sealed

import (
	"encoding/asn1"
	"math/big"
)

// fromDER makes r‖s of an ECDSA signature in DER, which libraries and key
// services write.
func fromDER(der []byte, size int) ([]byte, bool) {
	var sig struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(der, &sig); err != nil || len(rest) > 0 {
		return nil, false
	}
	if sig.R.Sign() <= 0 || sig.S.Sign() <= 0 || sig.R.BitLen() > size*8 || sig.S.BitLen() > size*8 {
		return nil, false
	}
	raw := make([]byte, 2*size)
	sig.R.FillBytes(raw[:size])
	sig.S.FillBytes(raw[size:])
	return raw, true
}
