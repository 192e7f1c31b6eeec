/**
 * The statements that run all the time, as functions: the server keeps their plans in each of its processes, so that nothing is planned per call, no named
 * statement is needed and a pooler may stand in between. They are planned without regard to values or to how full a table is at that moment, and
 * never with a scan of a table or a join that would read one.
 *
 * Each statement inside sees what was committed before it began. So whoever decides something looks first and writes after that, and a row is
 * taken by the lock or the delete that finds it, never by a look before.
 *
 * No table changes: processes of the release before go on beside these with statements of their own.
 */
import { migration } from '../../store/migrations.ts'
import { ANY_READY, CLAIM_READY, NEXT_DUE } from './fast-path/claim-ready.ts'
import { ENQUEUE_DUE, OPEN_HEADS } from './fast-path/enqueue-due.ts'
import { FINISH_DONE, FORGET_DONE } from './fast-path/finish-done.ts'

export const fastPath = migration(
  4,
  'fast path',
  [OPEN_HEADS, ENQUEUE_DUE, CLAIM_READY, ANY_READY, NEXT_DUE, FINISH_DONE, FORGET_DONE].join('\n'),
)
