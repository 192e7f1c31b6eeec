/** Sends requests as raw bytes on a real socket, which no client library would send. */
import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export async function connected(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = createConnection(Number(port), hostname)
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

export const head = (lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`

/** Resolves with the status of the first response. */
export function statusOn(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = ''
    socket.on('data', (data) => {
      text += String(data)
      const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1]
      if (status !== undefined) resolve(Number(status))
    })
    socket.once('close', () => reject(new Error(`closed without an answer: ${text}`)))
  })
}

/** Everything that the server sends for these lines, until it closes the connection. */
export async function exchange(
  url: string,
  lines: readonly string[],
): Promise<{ status: number; text: string }> {
  const socket = await connected(url)
  socket.write(head(lines))
  const text = String(Buffer.concat((await socket.toArray()) as Buffer[]))
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text }
}
