/** Hand-written requests on a socket, which no client would send. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export const BOUNDARY = 'x-boundary-x'

export function partOf(name: string, filename: string | null, bytes: string, headers = ''): string {
  const file = filename === null ? '' : `; filename="${filename}"`
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${headers}\r\n${bytes}\r\n`
}

export const END = `--${BOUNDARY}--\r\n`

export interface RawRequest {
  readonly url: string
  readonly path: string
  readonly token: string
  readonly headers?: Readonly<Record<string, string>>
}

/** An upload whose body is written by hand. Without a length it is chunked. */
export async function openUpload({ url, path, token, headers = {} }: RawRequest): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.on('error', () => {})
  const lines = {
    host: hostname,
    authorization: `Bearer ${token}`,
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    connection: 'close',
    ...headers,
  }
  const text = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST ${path} HTTP/1.1\r\n${text.join('')}\r\n`)
  return socket
}

/** One chunk of a chunked body. */
export function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}

/** Reads until the server closes the connection. */
export async function answerOf(socket: Socket): Promise<{ status: number; body: string }> {
  let text = ''
  socket.setEncoding('utf8').on('data', (data: string) => (text += data))
  await once(socket, 'close')
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0)
  return { status, body: text.slice(text.indexOf('\r\n\r\n') + 4) }
}
