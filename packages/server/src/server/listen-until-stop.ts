/** Listens until the mill stops. A server of a stopped mill would only keep the process alive. */
import { serversOf, stopSignalOf } from 'jobmill/internal'
import { type Listening, listenOn, type SocketOptions } from './socket.ts'

/** Rejects with MILL_STOPPED when the mill was stopped. */
export async function listenUntilStop(mill: object, options: SocketOptions): Promise<Listening> {
  const stopped = stopSignalOf(mill)
  stopped?.throwIfAborted()
  const { url, close } = await listenOn(options)
  const servers = serversOf(mill)
  // The stop waits for it, because requests in flight still use the store.
  servers?.add(close)
  // For a server that began to listen after the stop had closed the others.
  const stop = (): void => void close()
  stopped?.addEventListener('abort', stop, { once: true })
  if (stopped?.aborted === true) await close()
  stopped?.throwIfAborted()
  return {
    url,
    close() {
      servers?.delete(close)
      stopped?.removeEventListener('abort', stop)
      return close()
    },
  }
}
