/** Measures the memory of the inbox during many large parallel uploads. */
import { loadavg } from 'node:os'
import type { Closers } from '../closing.ts'
import { contentOf, LARGEST } from './contents.ts'
import { round } from './pace.ts'
import { requestsTo } from './requests.ts'
import { startCommand } from './start-command.ts'
import type { Place } from './start-server.ts'

export interface MemoryReport {
  readonly name: string
  readonly uploads: number
  readonly seconds: number
  /** Before the first upload, and the maximum. Null if the system does not report it. */
  readonly memory: { readonly idleMb: number; readonly mostMb: number } | null
  readonly loadAverage: number
  readonly isWell: boolean
}

const MOST_MB = 200

export async function memoryUnder(place: Place, uploads: number, closing: Closers): Promise<MemoryReport> {
  const server = await startCommand(place, uploads)
  closing.add(server.stop)
  const requests = requestsTo(server.url, 0)
  closing.add(async () => requests.close())
  const idleMb = server.memory()?.now ?? 0
  let done = 0
  const showing = setInterval(
    () =>
      console.log(
        `  ${place.name}: ${done} of ${uploads} uploads of 20 MB, ${server.memory()?.now ?? '?'} MB resident`,
      ),
    2_000,
  )
  closing.add(async () => clearInterval(showing))
  const startedAt = performance.now()
  const contents = server.mailboxes.map((_, n) => contentOf(n, LARGEST))
  const equal = await Promise.all(
    server.mailboxes.map(async (mailbox, n) => {
      const content = contents[n]
      if (content === undefined) return false
      const [file] = await requests.upload(mailbox, [content])
      done += 1
      return file?.sha256 === content.sha256
    }),
  )
  const ms = performance.now() - startedAt
  clearInterval(showing)
  const memory = server.memory()
  await server.stop()
  return {
    name: place.name,
    uploads,
    seconds: round(ms / 1_000),
    memory: memory === null ? null : { idleMb, mostMb: memory.most },
    loadAverage: round(loadavg()[0] ?? 0),
    isWell: equal.every(Boolean) && (memory === null || memory.most < MOST_MB),
  }
}
