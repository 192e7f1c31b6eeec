/** A way to a server that can be made bad: slow, cut, open in one direction only, or silent. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Proxy {
  readonly port: number
  /** How many pieces were not passed on. */
  readonly swallowed: number
  /** Where new connections lead. */
  pointTo(port: number): void
  /** Ends every connection at once. Returns how many there were. */
  cut(): number
  /** Lets nothing through any more, in this direction or both, while connections stay open; new ones are taken and stay silent too. */
  silence(direction: 'to server' | 'to client' | 'both'): void
  /** What is passed on waits for so long. */
  delay(ms: number): void
  /** As it should be; connections that were silenced have lost something, and are ended. */
  mend(): void
  close(): Promise<void>
}

interface Pair {
  readonly client: Socket
  readonly server: Socket
  /** Something that was sent over it was swallowed. */
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
