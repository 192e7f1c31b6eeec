// Finds a TCP port on 127.0.0.1 that nobody uses at the moment. Another process may still take it before you
// do, so whoever starts a server on it should be ready to ask again.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

export async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port')
  return address.port
}

/** Whether something accepts connections there now. */
export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
