// Finds a free TCP port on 127.0.0.1. Another process may take it first, so callers that start a server on it
// must be ready to retry.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + randomInt(COUNT)
    if (await isFree(port)) return port
  }
}

/**
 * Below the ephemeral ports of the system, so that no outgoing connection takes the port of a server during
 * its restart.
 */
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

/** Whether a server accepts connections on the port. */
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
