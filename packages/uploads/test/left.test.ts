/** Clients that leave before the response exists: nothing that the response holds stays open. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { servePublic } from 'jobmill-server'
import { expect, onTestFinished, test } from 'vitest'
import { type Box, mailbox, type Scene, scene, type SceneOptions } from './support/inboxes.ts'

/** An inbox behind a server that passes a response on only when the client has left. */
async function lateScene(options: SceneOptions): Promise<{ made: Scene; box: Box; url: string }> {
  const made = await scene('sqlite', options)
  const late = await servePublic(made.mill, {
    port: 0,
    async routes(request, caller) {
      const response = await made.inbox.fetch(request, caller)
      expect(response?.status).toBe(200)
      asked.get(request.headers.get('x-client') ?? '')?.()
      if (!request.signal.aborted) await once(request.signal, 'abort')
      return response
    },
  })
  onTestFinished(async () => {
    await late.close()
    await made.close()
  })
  return { made, box: await mailbox(made), url: late.url }
}

/** By client: called when the response exists. */
const asked = new Map<string, () => void>()

async function askAndLeave(url: string, box: Box, path: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  const client = crypto.randomUUID()
  const answered = new Promise<void>((resolve) => asked.set(client, resolve))
  const lines = [
    `GET /mailboxes/${box.id}${path} HTTP/1.1`,
    'host: localhost',
    `authorization: Bearer ${box.token}`,
    `x-client: ${client}`,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  await answered
  socket.destroy()
}

test('S1 an event stream whose client left before the response existed gives its place back', async () => {
  const { box, url } = await lateScene({ listenersPerMailbox: 1 })
  await askAndLeave(url, box, '/events')
  await expect
    .poll(async () => {
      const response = await box.ask('/events')
      await response.body?.cancel()
      return response.status
    })
    .toBe(200)
})

test('S1 a download whose client left before the response existed closes its file', async () => {
  const files: unknown[] = []
  const { box, url } = await lateScene({
    wrap: (blobs) => ({
      ...blobs,
      async read(id, range) {
        const bytes = await blobs.read(id, range)
        files.push(bytes)
        return bytes
      },
    }),
  })
  // More than the server reads ahead.
  const [file = ''] = await box.sent('a'.repeat(2_000_000))
  await askAndLeave(url, box, `/uploads/${file}/content`)
  expect(files).toEqual([expect.any(Readable)])
  await expect.poll(() => files.every((one) => (one as Readable).closed)).toBe(true)
})
