/** Limits the connections of a server: a new one replaces the one that has been idle for the longest time. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Refuses a new connection only if all others have a request in progress. */
export function replaceIdleConnections(server: Server, most: number): void {
  let open = 0
  /** Connections without a request in progress, the longest idle one first. */
  const idle = new Set<Socket>()
  server.on('connection', (socket) => {
    if (open >= most) {
      const [longest = socket] = idle
      idle.delete(longest)
      longest.destroy()
    }
    open += 1
    if (!socket.destroyed) idle.add(socket)
    socket.once('close', () => {
      open -= 1
      idle.delete(socket)
    })
  })
  server.on('request', ({ socket }, response) => {
    idle.delete(socket)
    response.once('close', () => void (socket.destroyed || idle.add(socket)))
  })
}
