// Where one message of PostgreSQL ends and the next begins, in a stream that comes in pieces.

const HEADER = 5

/** Calls `on` for each message with its type and the first byte of what it says. */
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
