/** Enqueues a job for each file, in the transaction that makes the file visible. */
import type { Mill } from 'jobmill'
import { type FileRow, uriOf } from '../deliver/file-view.ts'

export interface BridgeOptions {
  readonly kind: string
  /** Default: the queue to which the mill routes the kind. */
  readonly queue?: string
}

export type Bridge = ReturnType<typeof bridgeTo>

export function bridgeTo(mill: Mill<never>, { kind, queue }: BridgeOptions) {
  return {
    async enqueue(files: readonly FileRow[], tx: never): Promise<void> {
      for (const file of files)
        await mill.enqueue(kind, payloadOf(file), { tx, ...(queue !== undefined && { queue }) })
    },
    /** Called after the commit. */
    wake: (): void => mill.wake(),
  }
}

export type FilePayload = Readonly<ReturnType<typeof payloadOf>>

function payloadOf({ mailbox, id, name, type, size, sha256 }: FileRow) {
  return { uri: uriOf(mailbox, id), mailbox, fileId: id, name, type, size, sha256 }
}
