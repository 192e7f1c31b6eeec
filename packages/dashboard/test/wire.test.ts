/**
 * Compares the dashboard's types with the shapes that the server declares, at compile time. The server's own
 * tests compare its answers with those shapes.
 */
import type { z } from 'zod'
import { expectTypeOf, test } from 'vitest'
import type { appShape } from '../../jobmill/src/http/shapes/app.ts'
import type { attemptShape, jobPageShape, jobShape, whyShape } from '../../jobmill/src/http/shapes/job.ts'
import type {
  countsShape,
  instanceShape,
  queueShape,
  unservedKindShape,
} from '../../jobmill/src/http/shapes/queue.ts'
import type { scheduleShape, tickShape } from '../../jobmill/src/http/shapes/schedule.ts'
import type { seriesShape } from '../../jobmill/src/http/shapes/series.ts'
import type { resourcesShape } from '../../jobmill/src/http/shapes/system.ts'
import type { SeenFiles } from '../../uploads/src/inbox/look-files.ts'
import type { SeenMailbox } from '../../uploads/src/inbox/look-mailboxes.ts'
import type { Resources, Series } from '../src/api/types/history.ts'
import type { Attempt, Job, JobPage, Why } from '../src/api/types/job.ts'
import type { App, Counts, Instance, Queue, Schedule, Tick, UnservedKind } from '../src/api/types/mill.ts'
import type { FilePage, Mailbox } from '../src/api/types/uploads.ts'

type Wire<S extends z.ZodType> = z.infer<S>

test('shapes of the server match types of the dashboard', () => {
  expectTypeOf<Wire<typeof jobShape>>().toExtend<Job>()
  expectTypeOf<Wire<typeof attemptShape>>().toExtend<Attempt>()
  expectTypeOf<Wire<typeof whyShape>>().toExtend<Why>()
  expectTypeOf<Wire<typeof jobPageShape>>().toExtend<JobPage>()
  expectTypeOf<Wire<typeof queueShape>>().toExtend<Queue>()
  expectTypeOf<Wire<typeof countsShape>>().toExtend<Counts>()
  expectTypeOf<Wire<typeof unservedKindShape>>().toExtend<UnservedKind>()
  expectTypeOf<Wire<typeof instanceShape>>().toExtend<Instance>()
  expectTypeOf<Wire<typeof scheduleShape>>().toExtend<Schedule>()
  expectTypeOf<Wire<typeof tickShape>>().toExtend<Tick>()
  expectTypeOf<Wire<typeof appShape>>().toExtend<App>()
  expectTypeOf<Wire<typeof seriesShape>>().toExtend<Series>()
  expectTypeOf<Wire<typeof resourcesShape>>().toExtend<Resources>()
  expectTypeOf<SeenMailbox>().toExtend<Mailbox>()
  expectTypeOf<SeenFiles>().toExtend<FilePage>()
})
