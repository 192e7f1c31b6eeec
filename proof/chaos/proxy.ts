/** A TCP proxy with faults: slow, cut, one-directional, or silent. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Proxy {
  readonly port: number
  /** The number of dropped chunks. */
  readonly swallowed: number
  /** Sets the target of new connections. */
  pointTo(port: number): void
  /** Closes every connection. Returns how many there were. */
  cut(): number
  /**
   * Drops all data in this direction or both, while connections stay open; new ones are accepted and stay
   * silent too.
   */
  silence(direction: 'to server' | 'to client' | 'both'): void
  /** Delays all data by this time. */
  delay(ms: number): void
  /** Restores normal operation; connections that lost data are closed. */
  mend(): void
  close(): Promise<void>
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
  /** Data on this connection was dropped. */
  lossy: boolean
}

export async function proxy(to: number): Promise<Proxy> {
  const pairs = new Set<Pair>()
  let target = to
  let silenced: 'to server' | 'to client' | 'both' | null = null
  let delayMs = 0
  let swallowed = 0

  function end(pair: Pair): void {
    pairs.delete(pair)
    pair.client.destroy()
    pair.server.destroy()
  }

  function pass(pair: Pair, bytes: Buffer, direction: 'to server' | 'to client'): void {
    if (silenced === 'both' || silenced === direction) {
      pair.lossy = true
      swallowed += 1
      return
    }
    const socket = direction === 'to server' ? pair.server : pair.client
    if (delayMs === 0) socket.write(bytes)
    else setTimeout(() => socket.destroyed || socket.write(bytes), delayMs)
  }

  const listener = createServer({ noDelay: true }, (client) => {
    const server = connect({ port: target, host: '127.0.0.1', noDelay: true })
    const pair: Pair = { client, server, lossy: false }
    pairs.add(pair)
    client.on('data', (bytes: Buffer) => pass(pair, bytes, 'to server'))
    server.on('data', (bytes: Buffer) => pass(pair, bytes, 'to client'))
    for (const socket of [client, server]) {
      socket.on('error', () => end(pair))
      socket.on('close', () => end(pair))
    }
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')

  return {
    port: (listener.address() as AddressInfo).port,
    get swallowed() {
      return swallowed
    },
    pointTo: (port) => void (target = port),
    cut() {
      const count = pairs.size
      for (const pair of pairs) end(pair)
      return count
    },
    silence: (direction) => void (silenced = direction),
    delay: (ms) => void (delayMs = ms),
    mend() {
      silenced = null
      delayMs = 0
      for (const pair of pairs) if (pair.lossy) end(pair)
    },
    async close() {
      for (const pair of pairs) end(pair)
      listener.close()
      await once(listener, 'close')
    },
  }
}
