// A proxy in front of a server that can go silent: connections stay open, and nothing arrives.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface SilentProxy {
  readonly port: number
  readonly goSilent: () => void
  /** Resolves when this many requests to the silent server were dropped. */
  readonly dropped: (count: number) => Promise<void>
}

export async function silentProxy(port: number): Promise<SilentProxy> {
  const sockets = new Set<Socket>()
  let isSilent = false
  let drops = 0
  let onDrop: (() => void) | null = null
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    const pass = (from: Socket, to: Socket): void => {
      sockets.add(from)
      from.on('error', () => to.destroy()).on('close', () => to.destroy())
      from.on('data', (data) => {
        if (!isSilent) return void to.write(data)
        drops += from === client ? 1 : 0
        return onDrop?.()
      })
    }
    pass(client, upstream)
    pass(upstream, client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    port: (server.address() as AddressInfo).port,
    goSilent: () => void (isSilent = true),
    dropped: (count) =>
      new Promise((resolve) => {
        onDrop = () => void (drops >= count && resolve())
        onDrop()
      }),
  }
}
