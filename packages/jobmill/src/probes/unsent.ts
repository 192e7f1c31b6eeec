/** Bounds the bytes of responses that a server holds for clients that read slowly. */
import type { Socket } from 'node:net'

export type Unsent = ReturnType<typeof unsentResponses>

/** Beyond `mostBytes`, it closes the connection to which nothing was written for the longest time. */
export function unsentResponses(mostBytes: number) {
  /** In the order of their last write. A streamed response writes more only after its client has read. */
  const held = new Map<Socket, number>()
  let total = 0

  /** Call it after a write: `socket` holds what its client has not read. */
  function note(socket: Socket): void {
    const bytes = socket.writableLength
    forget(socket)
    // Not counted: every response may buffer this much.
    if (bytes <= socket.writableHighWaterMark) return
    held.set(socket, bytes)
    total += bytes
    if (total > mostBytes) closeOthers(socket)
  }

  function forget(socket: Socket): void {
    total -= held.get(socket) ?? 0
    held.delete(socket)
  }

  /** Keeps the given connection, because one response may be larger than the bound. */
  function closeOthers(last: Socket): void {
    for (const [socket, bytes] of held) {
      held.set(socket, socket.writableLength)
      total += socket.writableLength - bytes
    }
    for (const socket of held.keys()) {
      if (total <= mostBytes) return
      if (socket === last) continue
      forget(socket)
      socket.destroy()
    }
  }

  return { note, forget }
}
