/**
 * Compares, at compile time, what the dashboard writes down about the server: the states of jobs, in its own
 * order, and the JSON of the upload inbox, which has no schemas. All other types are inferred from schemas.
 */
import { expectTypeOf, test } from 'vitest'
import type { SeenFiles } from '../../uploads/src/inbox/look-files.ts'
import type { SeenMailbox } from '../../uploads/src/inbox/look-mailboxes.ts'
import type { LISTED_STATES, STATES } from '../src/api/states.ts'
import type { ListedState, State } from '../src/api/types.ts'
import type { FilePage, Mailbox } from '../src/api/upload-types.ts'

test('states and types of the dashboard match the server', () => {
  expectTypeOf<(typeof STATES)[number]>().toEqualTypeOf<State>()
  expectTypeOf<(typeof LISTED_STATES)[number]>().toEqualTypeOf<ListedState>()
  expectTypeOf<SeenMailbox>().toExtend<Mailbox>()
  expectTypeOf<SeenFiles>().toExtend<FilePage>()
})
