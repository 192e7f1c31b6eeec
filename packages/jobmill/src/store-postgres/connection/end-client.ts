/** Ends connections, including those to a server that no longer responds. */
import type pg from 'pg'
import type { Platform } from '../../platform/platform.ts'
import { sleep } from '../../platform/sleep.ts'

const GOODBYE_MS = 1_000

/** Ends the client gracefully; after a short wait, closes its socket. */
export async function endSoon(platform: Platform, client: pg.Client): Promise<void> {
  const ended = client.end().catch(() => {})
  const moment = new AbortController()
  await Promise.race([ended, sleep(platform, GOODBYE_MS, moment.signal)])
  moment.abort()
  closeSocket(client)
}

export function closeSocket(client: pg.Client): void {
  ;(client as unknown as { connection?: { stream?: { destroy(): void } } }).connection?.stream?.destroy()
}
