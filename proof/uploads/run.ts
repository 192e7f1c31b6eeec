/** The senders, and one consumer per mailbox. */
import { contentOf, fateOf, shuffled, sizeOf } from './contents.ts'
import { newTimes } from './pace.ts'
import type { Mailbox, Requests } from './requests.ts'
import type { Running } from './start-server.ts'

export interface Size {
  readonly files: number
  readonly mailboxes: number
}

const SENDERS = 24
const FETCHERS = 12
export const WAIT_SECONDS = 30

export function newRun(server: Running, requests: Requests, { files, mailboxes }: Size) {
  const times = { upload: newTimes(), fetch: newTimes(), ack: newTimes() }
  const expected = new Map<string, string>()
  const wrong: string[] = []
  const fetching = atMost(FETCHERS)
  const done = new AbortController()
  let [bytes, fetchedBytes, sent, toRead, ended] = [0, 0, 0, 0, 0]
  for (let n = 0; n < files; n += 1) if (fateOf(n) !== 'left') toRead += 1
  const read = new Set<string>()

  async function sendOne(numbers: readonly number[]): Promise<void> {
    const contents = numbers.map((n) => contentOf(n, sizeOf(n, files)))
    for (const { name, sha256 } of contents) expected.set(name, sha256)
    const mailbox = server.mailboxes[(numbers[0] ?? 0) % mailboxes]
    if (mailbox === undefined) throw new Error('there is no mailbox')
    const answered = await times.upload.of(() => requests.upload(mailbox, contents))
    for (const [at, { name, sha256, size }] of contents.entries()) {
      if (answered[at]?.sha256 !== sha256) wrong.push(`the answer has another hash for ${name}`)
      bytes += size
      sent += 1
    }
  }

  async function takeOne(mailbox: Mailbox, id: string, name: string): Promise<void> {
    const fate = fateOf(Number.parseInt(name, 10))
    if (fate === 'left') return
    const sha256 = expected.get(name)
    const came = await times.fetch.of(() => requests.fetch(mailbox, id))
    fetchedBytes += came.size
    if (came.sha256 !== sha256) wrong.push(`what was fetched of ${name} has another hash`)
    if (read.has(id)) wrong.push(`${name} was listed twice`)
    read.add(id)
    if (fate === 'acked') await times.ack.of(() => requests.ack(mailbox, id, came.sha256))
    ended += 1
    if (ended === toRead) done.abort()
  }

  return {
    times,
    wrong,
    bytes: () => bytes,
    fetched: () => fetchedBytes,
    state: () =>
      `${sent} of ${files} sent, ${(bytes / 1e9).toFixed(2)} GB, ${read.size} of ${toRead} fetched, ${server.memory()?.now ?? '?'} MB resident`,
    async send(): Promise<void> {
      const left = batches(shuffled(files)).values()
      await Promise.all(
        Array.from({ length: SENDERS }, async () => {
          for (const numbers of left) await sendOne(numbers)
        }),
      )
    },
    /** Polls for new files like a consumer, until all consumers have everything. */
    async consume(mailbox: Mailbox): Promise<void> {
      let after: string | null = null
      while (!done.signal.aborted) {
        const page = await requests.list(mailbox, after, done.signal)
        if (page === null) return
        after = page.cursor
        await Promise.all(page.files.map(({ id, name }) => fetching(() => takeOne(mailbox, id, name))))
      }
    },
  }
}

/** Requests of one to four files. */
function batches(numbers: readonly number[]): number[][] {
  const all: number[][] = []
  for (let at = 0; at < numbers.length; at += all.at(-1)?.length ?? 1)
    all.push(numbers.slice(at, at + 1 + (all.length % 4)))
  return all
}

function atMost(most: number): <T>(act: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (act) => {
    if (running >= most) await new Promise<void>((go) => waiting.push(go))
    else running += 1
    try {
      return await act()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
