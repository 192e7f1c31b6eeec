/** The requests of senders and consumers through node:http, streaming without buffering files. */
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request, type RequestOptions } from 'node:http'
import type { Content } from './contents.ts'

export interface Mailbox {
  readonly id: string
  readonly token: string
}

interface Listed {
  readonly files: readonly { readonly id: string; readonly name: string; readonly sha256: string }[]
  readonly cursor: string
}

export interface Requests {
  readonly upload: (mailbox: Mailbox, contents: readonly Content[]) => Promise<Listed['files']>
  /** Null if it was aborted. */
  readonly list: (mailbox: Mailbox, after: string | null, signal: AbortSignal) => Promise<Listed | null>
  /** The hash of the received bytes. */
  readonly fetch: (
    mailbox: Mailbox,
    file: string,
  ) => Promise<{ readonly sha256: string; readonly size: number }>
  readonly ack: (mailbox: Mailbox, file: string, sha256: string) => Promise<void>
  readonly close: () => void
}

const BOUNDARY = 'a-boundary-that-is-in-no-file-of-ours'

/** Rejects with the server's response if the status is not 200. */
export function requestsTo(url: string, waitSeconds: number): Requests {
  const agent = new Agent({ keepAlive: true })

  async function ask(
    { id, token }: Mailbox,
    path: string,
    options: RequestOptions = {},
    body: readonly (string | Uint8Array)[] = [],
  ): Promise<IncomingMessage> {
    const headers = { authorization: `Bearer ${token}`, ...(options.headers as Record<string, string>) }
    const sent = request(`${url}/mailboxes/${id}${path}`, { agent, ...options, headers })
    for (const part of body) sent.write(part)
    sent.end()
    const what = `${options.method ?? 'GET'} ${path}`
    let answer: IncomingMessage
    try {
      ;[answer] = (await once(sent, 'response')) as [IncomingMessage]
    } catch (error) {
      // The server closed an idle connection just as it was reused: retry, as every client must.
      if (sent.reusedSocket && isReset(error)) return ask({ id, token }, path, options, body)
      throw new Error(`${what}: ${String(error)}`, { cause: error })
    }
    if (answer.statusCode === 200) return answer
    throw new Error(`${what}: ${answer.statusCode} ${await textOf(answer)}`)
  }

  return {
    async upload(mailbox, contents) {
      const body = contents.flatMap(({ name, parts }) => [
        `--${BOUNDARY}\r\ncontent-disposition: form-data; name="files"; filename="${name}"\r\ncontent-type: application/octet-stream\r\n\r\n`,
        ...parts,
        '\r\n',
      ])
      body.push(`--${BOUNDARY}--\r\n`)
      const headers = {
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
        'content-length': String(body.reduce((sum, part) => sum + part.length, 0)),
        'idempotency-key': randomUUID(),
      }
      const answer = await ask(mailbox, '/uploads', { method: 'POST', headers }, body)
      return (JSON.parse(await textOf(answer)) as Pick<Listed, 'files'>).files
    },
    async list(mailbox, after, signal) {
      const query = `?limit=100&wait=${waitSeconds}s${after === null ? '' : `&after=${after}`}`
      try {
        return JSON.parse(await textOf(await ask(mailbox, `/uploads${query}`, { signal }))) as Listed
      } catch (error) {
        if (signal.aborted) return null
        throw error
      }
    },
    async fetch(mailbox, file) {
      const answer = await ask(mailbox, `/uploads/${file}/content`)
      const hash = createHash('sha256')
      let size = 0
      for await (const chunk of answer as AsyncIterable<Uint8Array>) {
        hash.update(chunk)
        size += chunk.length
      }
      return { sha256: hash.digest('hex'), size }
    },
    async ack(mailbox, file, sha256) {
      const headers = { 'content-type': 'application/json' }
      const body = [JSON.stringify({ sha256 })]
      await textOf(await ask(mailbox, `/uploads/${file}/ack`, { method: 'POST', headers }, body))
    },
    close: () => agent.destroy(),
  }
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
