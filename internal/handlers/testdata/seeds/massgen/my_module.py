def my_hook_function(event):
    return {"inject": {"content": f"{event.tool_name} on {event.tool_input['file_path']}: document what you learnt"}}
