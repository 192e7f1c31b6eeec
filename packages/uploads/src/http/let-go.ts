/** The rest of a body that nobody wants: read and thrown away, or whoever sends would find the line cut before the answer. Not without end. */
const MOST_BYTES = 64 * 1_024 * 1_024

/** Never rejects. */
export async function letGo(body: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    for (let size = 0; size < MOST_BYTES;) {
      const { done, value } = await body.read()
      if (done) return
      size += value.length
    }
    await body.cancel()
  } catch {
    // Whoever sent it is gone.
  }
}

/** Of a request that was refused before its body was looked at. */
export function letGoOf(request: Request): void {
  const body = request.method === 'GET' ? null : (request.body as ReadableStream<Uint8Array> | null)
  if (body !== null && !body.locked) void letGo(body.getReader())
}
