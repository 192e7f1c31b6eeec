// Splits a stream of the PostgreSQL protocol into messages.

const HEADER = 5

/** Calls `on` for each message with its type and the first byte of its body. */
export function messages(on: (type: string, first: string) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let skip = 0
  return (chunk) => {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (;;) {
      const passed = Math.min(skip, bytes.length)
      skip -= passed
      bytes = bytes.subarray(passed)
      const size = bytes.length < HEADER ? HEADER : bytes.readInt32BE(1) + 1
      if (skip > 0 || bytes.length < Math.min(size, HEADER + 1)) break
      on(String.fromCharCode(bytes[0] ?? 0), String.fromCharCode(bytes[HEADER] ?? 0))
      skip = size
    }
    rest = bytes
  }
}

/** Calls `on` for each complete message, with its type. */
export function wholeMessages(on: (type: string, message: Buffer) => void): (chunk: Buffer) => void {
  let pieces: Buffer[] = []
  let length = 0
  let wanted = HEADER
  return (chunk) => {
    pieces.push(chunk)
    length += chunk.length
    if (length < wanted) return
    let bytes = pieces.length === 1 ? chunk : Buffer.concat(pieces)
    for (;;) {
      wanted = bytes.length < HEADER ? HEADER : bytes.readInt32BE(1) + 1
      if (bytes.length < wanted) break
      on(String.fromCharCode(bytes[0] ?? 0), bytes.subarray(0, wanted))
      bytes = bytes.subarray(wanted)
    }
    pieces = [bytes]
    length = bytes.length
  }
}

/** The first string of a message: for a Parse message the name of the statement. */
export function firstText(message: Buffer): string {
  return message.toString('latin1', HEADER, message.indexOf(0, HEADER))
}
