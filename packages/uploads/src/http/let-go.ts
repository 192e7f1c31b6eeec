/**
 * Reads and discards the rest of an unwanted body, up to a limit. Otherwise the client would get a connection
 * error instead of the response.
 */
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
    // The client has disconnected.
  }
}

/** Discards the body of a request that was refused before its body was read. */
export function letGoOf(request: Request): void {
  const body = request.method === 'GET' ? null : (request.body as ReadableStream<Uint8Array> | null)
  if (body !== null && !body.locked) void letGo(body.getReader())
}
