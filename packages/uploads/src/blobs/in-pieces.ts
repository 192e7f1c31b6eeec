/**
 * Splits a stream into pieces of equal size, except the last. All pieces share one buffer: finish with one
 * before requesting the next.
 */
export async function* inPieces(bytes: AsyncIterable<Uint8Array>, size: number): AsyncIterable<Uint8Array> {
  const piece = Buffer.allocUnsafe(size)
  let filled = 0
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length;) {
      const room = Math.min(size - filled, chunk.length - at)
      piece.set(chunk.subarray(at, at + room), filled)
      filled += room
      at += room
      if (filled < size) continue
      yield piece
      filled = 0
    }
  }
  if (filled > 0) yield piece.subarray(0, filled)
}
