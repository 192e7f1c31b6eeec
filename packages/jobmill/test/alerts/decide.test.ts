// What a rule sends, as tables and as properties over random histories. No database.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AlertMessage,
  type AlertRule,
  type AlertState,
  type FoundProblem,
  NO_STATE,
} from '../../src/job/alert/rule.ts'
import { BOUNDS } from '../../src/job/defaults.ts'
import { decide } from '../../src/runtime/alerts/decide.ts'
import { aRule } from '../../../conformance/src/factories.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const T0 = 1_800_000_000_000

const dead = (queue: string, jobs = 1): FoundProblem => ({
  check: 'dead',
  level: 'warning',
  about: { what: 'queue', name: queue },
  message: `queue "${queue}" has ${jobs} dead jobs`,
  fix: 'Inspect the errors',
})

interface Step {
  readonly at: number
  readonly findings: readonly FoundProblem[]
  readonly unread?: readonly string[]
  readonly rule?: AlertRule
}

interface Sent extends Pick<AlertMessage, 'type' | 'message' | 'id' | 'since' | 'check'> {
  readonly at: number
  readonly name: string | null
}

/** All messages of a history. */
function run(rule: AlertRule, steps: readonly Step[]): { sent: Sent[]; state: AlertState } {
  let state = NO_STATE
  const sent: Sent[] = []
  for (const { at, findings, unread = [], rule: changed = rule } of steps) {
    state = decide('ops', changed, state, { findings, unread: new Set(unread), now: T0 + at })
    for (const { type, message, id, since, check, about } of state.outbox)
      sent.push({ type, message, id, since, check, at, name: about.name })
  }
  return { sent, state }
}

const brief = (sent: readonly Sent[]): string[] =>
  sent.map(({ type, name, at }) => `${at / MINUTE}m ${type} ${name}`)

const at = (minute: number, ...findings: FoundProblem[]): Step => ({ at: minute * MINUTE, findings })
const a = dead('a')
const b = dead('b')

const notice: FoundProblem = { ...a, level: 'notice' }
const error: FoundProblem = { ...a, level: 'error' }

const TABLE: readonly [
  what: string,
  rule: Partial<AlertRule>,
  steps: readonly Step[],
  sent: readonly string[],
][] = [
  ['a problem is sent at once', {}, [at(0), at(1, a)], ['1m problem a']],
  [
    'a notice is sent by a rule that names its check',
    { checks: ['dead'] },
    [at(0, notice)],
    ['0m problem a'],
  ],
  ['a notice is not sent by a rule for all checks', { checks: null }, [at(0, notice)], []],
  [
    'a problem that holds is not repeated within the cool-down',
    {},
    [at(0, a), at(30, a), at(59, a)],
    ['0m problem a'],
  ],
  [
    'a problem that lasts is sent again after the cool-down',
    {},
    [at(0, a), at(60, a), at(61, a), at(120, a)],
    ['0m problem a', '60m problem a', '120m problem a'],
  ],
  [
    'the end of a sent problem is sent once',
    {},
    [at(0, a), at(5), at(6), at(70)],
    ['0m problem a', '5m recovered a'],
  ],
  [
    'a problem that returns within the cool-down is sent after it',
    {},
    [at(0, a), at(5), at(10, a), at(59, a), at(60, a), at(61)],
    ['0m problem a', '5m recovered a', '60m problem a', '61m recovered a'],
  ],
  [
    'a problem that returns and ends within the cool-down is not sent',
    {},
    [at(0, a), at(5), at(10, a), at(20), at(90)],
    ['0m problem a', '5m recovered a'],
  ],
  [
    'a problem that becomes worse is sent again at once, and once per cool-down',
    {},
    [
      at(0, a),
      at(5, error),
      at(6, error),
      at(7, a),
      at(8, error),
      at(64, a),
      at(65, a),
      at(66, error),
      at(67),
    ],
    ['0m problem a', '5m problem a', '65m problem a', '66m problem a', '67m recovered a'],
  ],
  [
    'a problem that returns within the cool-down is sent at once if it is worse',
    {},
    [at(0, a), at(5), at(10, error), at(20), at(30, a), at(40, error)],
    ['0m problem a', '5m recovered a', '10m problem a', '20m recovered a'],
  ],
  [
    'each cause has its own cool-down',
    {},
    [at(0, a), at(1, a, b), at(2, b), at(3)],
    ['0m problem a', '1m problem b', '2m recovered a', '3m recovered b'],
  ],
  [
    'a problem must hold for a while',
    { forMs: 5 * MINUTE },
    [at(0, a), at(4, a), at(5, a), at(6)],
    ['5m problem a', '6m recovered a'],
  ],
  [
    'a problem that ends before is not sent, and neither is its end',
    { forMs: 5 * MINUTE },
    [at(0, a), at(4), at(5, a), at(9, a), at(10)],
    [],
  ],
  [
    'without recovery, the end is not sent',
    { recovery: false },
    [at(0, a), at(5), at(65, a)],
    ['0m problem a', '65m problem a'],
  ],
  ['other checks do not count', { checks: ['paused'] }, [at(0, a)], []],
  ['without checks, each counts', { checks: null }, [at(0, a)], ['0m problem a']],
  ['a rule for a queue ignores others', { queue: 'b' }, [at(0, a, b)], ['0m problem b']],
  [
    'a rule for a kind ignores queues',
    { checks: null, kind: 'a' },
    [at(0, a, { ...a, check: 'served', about: { what: 'kind', name: 'a' } })],
    ['0m problem a'],
  ],
  [
    'what a changed filter no longer covers has not recovered',
    {},
    [at(0, a, b), { ...at(5, a, b), rule: aRule({ queue: 'b' }) }, { ...at(6), rule: aRule({ queue: 'b' }) }],
    ['0m problem a', '0m problem b', '6m recovered b'],
  ],
  [
    'a check that could not run has not recovered',
    {},
    [at(0, a), { ...at(5), unread: ['dead'] }, at(6)],
    ['0m problem a', '6m recovered a'],
  ],
  ['several findings of one cause are one', {}, [at(0, a, dead('a', 2))], ['0m problem a']],
]

describe('what a rule sends', () => {
  test.each(TABLE)('%s', (_, rule, steps, expected) => {
    expect(brief(run(aRule(rule), steps).sent)).toEqual(expected)
  })

  test('a message has the text of its moment, and a recovery that of the last one', () => {
    const { sent } = run(aRule(), [at(0, dead('a', 1)), at(1, dead('a', 9)), at(60, dead('a', 5)), at(61)])
    expect(sent.map(({ message }) => message)).toEqual([1, 5, 5].map((n) => dead('a', n).message))
  })

  test('each message has its own id, which is the same for the same history', () => {
    const steps = [at(0, a), at(60, a), at(61), at(130, a), at(131)]
    const ids = run(aRule(), steps).sent.map(({ id }) => id)
    expect(new Set(ids).size).toBe(5)
    expect(run(aRule(), steps).sent.map(({ id }) => id)).toEqual(ids)
    expect(ids.every((id) => /^msg_[0-9a-f]{32}$/.test(id))).toBe(true)
  })

  test('the state changes only when something begins, ends or is sent', () => {
    const { state } = run(aRule(), [at(0, dead('a', 1)), at(1, dead('a', 1))])
    const next = decide('ops', aRule(), state, {
      findings: [dead('a', 7)],
      unread: new Set(),
      now: T0 + 2 * MINUTE,
    })
    expect(next).toEqual(state)
  })

  test('an ended cause is forgotten after its cool-down', () => {
    expect(run(aRule(), [at(0, a), at(1), at(59)]).state.causes).toHaveLength(1)
    expect(run(aRule(), [at(0, a), at(1), at(59), at(60)]).state).toEqual(NO_STATE)
  })

  test('the number of causes is bounded, and those that are followed stay', () => {
    const many = Array.from({ length: BOUNDS.alertCauses + 50 }, (_, n) => dead(`q${n}`))
    const { sent, state } = run(aRule(), [at(0, ...many), at(1, ...many.toReversed()), at(2)])
    expect(sent.filter(({ type }) => type === 'problem')).toHaveLength(BOUNDS.alertCauses)
    expect(sent.filter(({ type }) => type === 'recovered')).toHaveLength(BOUNDS.alertCauses)
    expect(state.causes).toHaveLength(BOUNDS.alertCauses)
  })
})

const NAMES = ['a', 'b', 'c']
const history = fc.array(
  fc.record({
    stepMs: fc.integer({ min: 1, max: 40 * MINUTE }),
    there: fc.subarray(NAMES),
  }),
  { maxLength: 40 },
)
const rules = fc.record({
  forMs: fc.constantFrom(0, MINUTE, 20 * MINUTE),
  coolDownMs: fc.constantFrom(10_000, 10 * MINUTE, HOUR),
})

const of = (sent: readonly Sent[], name: string): Sent[] => sent.filter((one) => one.name === name)
const isThere = (step: Step, name: string): boolean => step.findings.some(({ about }) => about.name === name)

const check = (property: (sent: readonly Sent[], steps: readonly Step[], rule: AlertRule) => void): void => {
  fc.assert(
    fc.property(history, rules, (parts, how) => {
      let now = 0
      const steps = parts.map(({ stepMs, there }) => ({
        at: (now += stepMs),
        findings: there.map((name) => dead(name)),
      }))
      const rule = aRule(how)
      property(run(rule, steps).sent, steps, rule)
    }),
    { seed: 4, numRuns: 500 },
  )
}

describe('properties of every history', () => {
  test('a cause is sent at most once per cool-down', () => {
    check((sent, _, { coolDownMs }) => {
      for (const name of NAMES) {
        const times = of(sent, name).flatMap((one) => (one.type === 'problem' ? [one.at] : []))
        const pauses = times.slice(1).map((time, n) => time - (times[n] ?? 0))
        expect(pauses.filter((pause) => pause < coolDownMs)).toEqual([])
      }
    })
  })

  test('no recovery without a problem, and exactly one for each sent problem that ends', () => {
    check((sent, steps) => {
      for (const name of NAMES) {
        let isSent = false
        for (const step of steps) {
          const now = of(sent, name).filter((one) => one.at === step.at)
          const recovered = now.filter(({ type }) => type === 'recovered')
          expect(recovered).toHaveLength(isSent && !isThere(step, name) ? 1 : 0)
          if (!isThere(step, name)) isSent = false
          if (now.some(({ type }) => type === 'problem')) isSent = true
        }
      }
    })
  })

  test('a problem is sent when it has held long enough and the cool-down is over', () => {
    check((sent, steps, { forMs, coolDownMs }) => {
      for (const name of NAMES) {
        let since: number | null = null
        let last = Number.NEGATIVE_INFINITY
        for (const step of steps) {
          since = isThere(step, name) ? (since ?? step.at) : null
          const isDue = since !== null && step.at - since >= forMs && step.at - last >= coolDownMs
          const problems = of(sent, name).filter((one) => one.at === step.at && one.type === 'problem')
          expect(problems).toHaveLength(isDue ? 1 : 0)
          if (isDue) last = step.at
        }
      }
    })
  })

  test('no two messages share an id', () => {
    check((sent) => expect(new Set(sent.map(({ id }) => id)).size).toBe(sent.length))
  })
})
