/** Parsing of form fields, and the requests built from them. */
import { durationText } from '../../src/kit/forms/duration.ts'
import { expect, test } from 'vitest'
import { atField } from '../../src/api/at-field.ts'
import type { Schedule } from '../../src/api/types.ts'
import { durationOf, fieldText, instantOf, nameOf, tagsOf, wholeOf } from '../../src/kit/forms/parse-input.ts'
import { numberCopies } from '../../src/pages/enqueue/counted.ts'
import { draftLike, requestOf as job } from '../../src/pages/enqueue/enqueue-draft.ts'
import { groupsTitle, isSameGroup, scanNote } from '../../src/pages/errors/group-texts.ts'
import { jobsAddress } from '../../src/pages/errors/jobs-address.ts'
import { shapeParts } from '../../src/pages/errors/shape-parts.ts'
import {
  draftOf,
  NEW_SCHEDULE,
  requestOf as schedule,
} from '../../src/pages/schedules/form/schedule-draft.ts'
import { durationMs } from '../../../jobmill/src/job/duration.ts'

test('reads durations, numbers, names, instants and tags, or reports what is wrong', () => {
  expect(durationOf(' 1h 30m ')).toEqual({ value: '1h30m' })
  expect(durationOf('')).toEqual({ value: undefined })
  expect(durationOf('soon')).toHaveProperty('wrong')
  for (const ms of [0, 1, 999, 90_000, 86_400_000, 3_723_004])
    expect(durationMs(durationText(ms), 'x')).toBe(ms)
  expect(wholeOf('5', { least: 1, most: 5 })).toEqual({ value: 5 })
  expect(wholeOf('6', { least: 1, most: 5 })).toEqual({ wrong: 'Enter a number from 1 to 5.' })
  expect(wholeOf('x', { least: 1, most: 5 })).toHaveProperty('wrong')
  expect(nameOf('a b')).toHaveProperty('wrong')
  expect(tagsOf('a, b ,,a')).toEqual(['a', 'b'])
  const at = Date.UTC(2027, 6, 1, 12, 30, 5)
  expect(instantOf(fieldText(at))).toEqual({ value: at })
})

test('puts a problem of the server at its field', () => {
  const names = ['delay', 'payload'] as const
  const says = { message: 'job.delay: is not a duration. Give 90s.', field: 'job.delay', fix: 'Give 90s' }
  expect(atField(says, names)).toEqual({ field: 'delay', says: 'Is not a duration. Give 90s.' })
  expect(atField({ message: 'is missing', field: 'jobs.1.payload.user.id', fix: 'Add it' }, names)).toEqual({
    field: 'payload',
    says: 'User.id is missing. Add it.',
  })
  expect(atField({ message: 'too many' }, names)).toEqual({ field: null, says: 'Too many' })
})

test('sends the filled-in fields of a job', () => {
  const empty = draftLike(undefined)
  expect(job(empty, null)).toMatchObject({ path: 'jobs', wrong: { kind: 'Required.' } })
  const like = { kind: 'mail', payload: { a: 1 }, queue: 'q', priority: 3, tags: ['x', 'y'], maxAttempts: 2 }
  expect(job(draftLike(like), null)).toMatchObject({ body: like, wrong: {} })
  const late = { ...empty, kind: 'mail', when: 'delay', delay: '10m', runAt: '2027-01-01T00:00' }
  expect(job(late, null).body).toEqual({ kind: 'mail', payload: null, delay: '10m' })
  expect(job({ ...late, delay: '' }, null).wrong).toEqual({ delay: 'Enter a delay.' })
  expect(job({ ...late, payload: '{', copies: '1001' }, null).wrong).toMatchObject({
    payload: 'Enter valid JSON.',
    copies: 'Enter a number from 1 to 1000.',
  })
})

test('numbers copies, or generates different examples', () => {
  expect(numberCopies({ a: ['{{n}}', 'no {{n}}', 1, null] }, 7)).toEqual({ a: [7, 'no 7', 1, null] })
  const many = {
    ...draftLike(undefined),
    kind: 'k',
    copies: '2',
    payload: '{"id":"{{n}}"}',
    dedupeKey: 'k{{n}}',
  }
  expect(job(many, null)).toMatchObject({
    path: 'jobs/many',
    body: {
      kind: 'k',
      jobs: [
        { payload: { id: 1 }, dedupeKey: 'k1' },
        { payload: { id: 2 }, dedupeKey: 'k2' },
      ],
    },
  })
  expect(job({ ...many, vary: 'varied' }, { type: 'integer', minimum: 5 })).toMatchObject({
    body: { jobs: [{ payload: 5 }, { payload: 6 }] },
  })
})

const known: Schedule = {
  name: 'n',
  when: '@daily',
  zone: 'UTC',
  jitterMs: 30_000,
  startAt: Date.UTC(2027, 0, 1),
  endAt: null,
  missed: 'all',
  missedWithinMs: 3_600_000,
  overlap: 'skip',
  paused: false,
  kind: 'echo',
  queue: 'default',
  payload: { a: 1 },
  priority: 0,
  maxAttempts: 5,
  timeoutMs: 60_000,
  tags: ['x'],
  text: '',
  nextAt: null,
  lastAt: null,
  lastOutcome: null,
  lastJob: null,
  missedRuns: 0,
  error: null,
  version: null,
  differs: [],
  createdAt: 0,
}

test('sends the needed fields of a schedule, and only the changed ones of an edit', () => {
  expect(schedule(NEW_SCHEDULE, null).wrong).toEqual(
    Object.fromEntries(['name', 'job', 'when'].map((field) => [field, 'Required.'])),
  )
  const made = { ...NEW_SCHEDULE, name: 'n', job: 'echo', when: '@daily', missed: 'all', within: '6h' }
  expect(schedule(made, null)).toEqual({
    body: { name: 'n', job: 'echo', when: '@daily', missed: { all: '6h' } },
    wrong: {},
  })
  const before = draftOf(known)
  expect(schedule(before, before)).toEqual({ body: {}, wrong: {} })
  const changed = { ...before, timeout: '', start: '', jitter: '', tags: '', missed: 'skip', payload: '2' }
  expect(schedule(changed, before).body).toEqual({
    timeout: null,
    start: null,
    jitter: 0,
    tags: [],
    missed: 'skip',
    payload: 2,
  })
  expect(schedule({ ...before, end: '2020-01-01T00:00', queue: '' }, before).wrong).toEqual({
    end: 'The end is before the start.',
    queue: 'Required.',
  })
})

test('shows the shape of an error, and links to its jobs', () => {
  expect(shapeParts('user <n> at <email>: <x>')).toEqual([
    { text: 'user ', varies: false },
    { text: 'number', varies: true },
    { text: ' at ', varies: false },
    { text: 'email', varies: true },
    { text: ': <x>', varies: false },
  ])
  expect(jobsAddress({ kind: 'a/b', text: 'said 5' }, { state: 'dead', range: null })).toBe(
    '/jobs?kind=a%2Fb&state=dead&errorText=said+5',
  )
  expect(jobsAddress({ kind: 'k', text: '' }, { range: null })).toBe('/jobs?kind=k')
})

test('the errors page says how many groups there are, and how to see more', () => {
  const group = { dead: 2, failing: 1 }
  const listed = { groups: [group, group] as never, total: 2 }
  expect(groupsTitle(listed, 'jobs')).toBe('2 error groups, 6 jobs')
  expect(groupsTitle({ ...listed, total: 312 }, 'jobs')).toBe('The 2 largest of 312 error groups, 6 jobs')
  expect(groupsTitle({ ...listed, total: 312 }, 'firstAt')).toBe('The 2 newest of 312 error groups, 6 jobs')
  expect(scanNote({ queue: '', kind: '' })).toBe(' Choose a queue or a kind to narrow it down.')
  expect(scanNote({ queue: 'mail', kind: '' })).toBe(' Choose a kind to narrow it down.')
  expect(scanNote({ queue: 'mail', kind: 'a' })).toBe('')
})

test('a folded error group stays open when it gets another key', () => {
  expect(isSameGroup({ fingerprint: 'a,b' }, 'b')).toBe(true)
  expect(isSameGroup({ fingerprint: 'a' }, 'a,b')).toBe(true)
  expect(isSameGroup({ fingerprint: 'a' }, 'b')).toBe(false)
  expect(isSameGroup({ fingerprint: 'a' }, null)).toBe(false)
})
