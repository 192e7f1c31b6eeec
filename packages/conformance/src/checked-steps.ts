/** The rules for the arguments of the part `steps`: see checked-arguments.ts. */
import {
  BOUNDS,
  checkJsonText,
  checkKey,
  checkOneOf,
  checkWhole,
  STEP_KINDS,
  type StepsPart,
  type StepWrite,
} from 'jobmill/store'
import { type Checks, COUNT, DURATION, ids, MOST_KEY_CHARS } from './argument-rules.ts'

export const STEP_CHECKS: Checks<StepsPart> = {
  record: (items) => items.forEach(stepIsValid),
  wait(items) {
    for (const { events, waitMs, until, ...step } of items) {
      stepKeyIsValid(step)
      events.forEach((name) => checkKey(name, 'event', BOUNDS.stepNameChars))
      checkWhole(waitMs ?? 0, 'waitMs', DURATION)
      checkWhole(until ?? 0, 'until', { least: 0, most: BOUNDS.lastInstantAt })
    }
  },
  start(items) {
    for (const step of items) stepKeyIsValid(step)
  },
  read: ids,
  children: (id, of) => {
    ids([id])
    if ('step' in of) checkKey(of.step, 'step', BOUNDS.stepNameChars)
    else checkWhole(of.limit, 'limit', COUNT)
  },
  parents: ids,
  rewind: (id, place) => placeIsValid(id, place),
  fork: (id, place) => placeIsValid(id, place),
  list: (id) => ids([id]),
  send(items) {
    for (const { eventId, to, name, payload } of items) {
      ids(typeof to === 'string' ? [eventId, to] : [eventId])
      if (typeof to !== 'string') checkKey(to.dedupeKey, 'dedupeKey', MOST_KEY_CHARS)
      checkKey(name, 'event', BOUNDS.stepNameChars)
      checkJsonText(payload, 'payload', BOUNDS.stepBytes)
    }
  },
}

function stepKeyIsValid({
  id,
  token,
  name,
  place,
}: Pick<StepWrite, 'id' | 'token' | 'name' | 'place'>): void {
  ids([id])
  checkWhole(token, 'token', COUNT)
  checkKey(name, 'name', BOUNDS.stepNameChars)
  checkWhole(place, 'place', { least: 0, most: BOUNDS.steps })
}

function placeIsValid(id: string, place: number): void {
  ids([id])
  checkWhole(place, 'place', { least: 0, most: BOUNDS.steps })
}

function stepIsValid({ kind, result, checkpoint, ranMs, ...step }: StepWrite): void {
  stepKeyIsValid(step)
  checkOneOf(kind, 'kind', STEP_KINDS)
  for (const json of [result, checkpoint]) if (json !== null) checkJsonText(json, 'result', BOUNDS.stepBytes)
  checkWhole(Math.round(ranMs), 'ranMs', DURATION)
}
