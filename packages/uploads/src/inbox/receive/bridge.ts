/** Enqueues a job for each file, in the transaction that makes the file visible. */
import type { Mill } from 'jobmill'

export interface FilePayload {
  readonly uri: string
  readonly mailbox: string
  readonly fileId: string
  readonly name: string
  readonly type: string
  readonly size: number
  readonly sha256: string
}

export interface BridgeOptions {
  readonly kind: string
  /** Default: the queue that the kind is routed to. */
  readonly queue?: string
}

export interface Bridge {
  readonly enqueue: (files: readonly FilePayload[], tx: never) => Promise<void>
  /** Called after the commit. */
  readonly wake: () => void
}

export function bridgeTo(mill: Mill<never>, { kind, queue }: BridgeOptions): Bridge {
  return {
    async enqueue(files, tx) {
      for (const file of files) await mill.enqueue(kind, file, { tx, ...(queue !== undefined && { queue }) })
    },
    wake: () => mill.wake(),
  }
}
