// Finds a TCP port on 127.0.0.1 that nobody uses at the moment. Another process may still take it before you
// do, so whoever starts a server on it should be ready to ask again.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + randomInt(COUNT)
    if (await isFree(port)) return port
  }
}

/** Below those that the system gives away by itself: a server that is restarted finds its port free, whoever connected to somebody meanwhile. */
const FIRST = 15_000
const COUNT = 17_000

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
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
