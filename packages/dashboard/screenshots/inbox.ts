/**
 * A realistic upload inbox: some mailboxes are emptied as they fill, and one has a consumer that is offline.
 */
import { openTables } from 'jobmill-tables'
import { directoryBlobs, type Inbox, type Schema, STEPS, uploads } from 'jobmill-uploads'

export interface SeededInbox {
  readonly inbox: Inbox
  /** The mailbox for the screenshot. */
  readonly mailbox: string
  readonly close: () => Promise<void>
}

const HOUR_MS = 3_600_000

const LETTERS = [
  ['invoice-2026-11.pdf', 'application/pdf', 184_000],
  ['contract, signed.pdf', 'application/pdf', 2_300_000],
  ['office.jpg', 'image/jpeg', 4_700_000],
  ['orders.csv', 'text/csv', 71_000],
  ['voice-note.ogg', 'audio/ogg', 640_000],
  ['Grüße aus Köln.txt', 'text/plain', 900],
] as const

export async function seededInbox(folder: string): Promise<SeededInbox> {
  let agoMs = 0
  const { tables } = await openTables<Schema>(`${folder}/uploads.db`, {
    app: 'uploads',
    steps: STEPS,
    clock: () => Date.now() - agoMs,
  })
  const inbox = uploads({ tables, blobs: directoryBlobs(`${folder}/blobs`) })
  await inbox.start()

  async function mailboxOf(name: string, quotaBytes: number) {
    const { id } = await inbox.mailboxes.add({ name, quotaBytes })
    const { token } = await inbox.tokens.add(id)
    const ask = async (path: string, body?: FormData | string): Promise<Response> => {
      const headers = { authorization: `Bearer ${token}` }
      const init = body === undefined ? { headers } : { headers, method: 'POST', body }
      const answer = await inbox.fetch(new Request(`http://inbox/mailboxes/${id}/uploads${path}`, init))
      if (answer?.ok !== true) throw new Error(`the inbox refused the request: ${await answer?.text()}`)
      return answer
    }
    return {
      id,
      /** Ids of the files. */
      async send(hoursAgo: number, files: readonly (readonly [string, string, number])[]): Promise<string[]> {
        agoMs = hoursAgo * HOUR_MS
        const form = new FormData()
        for (const [file, type, size] of files)
          form.append('files', new Blob([new Uint8Array(size)], { type }), file)
        const answer = (await (await ask('', form)).json()) as { files: { id: string }[] }
        agoMs = 0
        return answer.files.map((one) => one.id)
      },
      fetch: async (file: string) => void (await (await ask(`/${file}/content`)).arrayBuffer()),
      ack: async (file: string) => void (await ask(`/${file}/ack`, '{}')),
    }
  }

  const scans = await mailboxOf('scanner, second floor', 50_000_000)
  await scans.send(27, LETTERS.slice(0, 3))
  await inbox.sweep()
  await scans.send(9, LETTERS.slice(1, 5))
  const letters = await mailboxOf('letters', 12_000_000)
  for (const file of await letters.send(0.6, LETTERS.slice(0, 2))) await letters.fetch(file)
  await letters.send(0.2, LETTERS)
  const orders = await mailboxOf('orders of the shop', 1_000_000_000)
  for (const file of await orders.send(0.1, [LETTERS[3], LETTERS[0]])) {
    await orders.fetch(file)
    await orders.ack(file)
  }
  await mailboxOf('new partner', 1_000_000_000)
  return { inbox, mailbox: letters.id, close: () => tables.close() }
}
