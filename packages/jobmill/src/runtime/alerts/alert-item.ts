/** The job that sends a message. Enqueuing the same message again changes nothing. */
import type { AlertMessage } from '../../job/alert/rule.ts'
import { derivedId } from '../../job/enqueue/derived-id.ts'
import type { EnqueueItem } from '../../job/enqueue/handle.ts'
import type { AlertPayload } from './alert-job.ts'
import { causeKey } from './decide.ts'

/** The id of the job is derived from the id of the message. */
export function alertItem(
  rule: string,
  message: AlertMessage,
  label: string | null,
): EnqueueItem<AlertPayload> {
  const { id, type, at, since, check, level, about, fix } = message
  const data = { rule, check, level, about, message: message.message, fix, since: isoTime(since), label }
  return {
    id: derivedId(id),
    payload: { rule, id, body: { type: `jobmill.${type}`, timestamp: isoTime(at), data } },
    // The key is held after the job has ended, in case retention deletes the job at once.
    dedupe: { key: `jobmill.alert ${id}`, holdFor: '1h', holdAfter: 'ended' },
    // So that the end of a problem is not delivered before the problem.
    orderKey: derivedId(`${rule}\n${causeKey(message)}`),
  }
}

function isoTime(at: number): string {
  return new Date(at).toISOString()
}
