/** The timeout, max attempts and backoff that apply to a job, and where each comes from. */
import type { ReactNode } from 'react'
import type { Job, Policy } from '../../api/types.ts'
import { Fact } from '../../kit/card.tsx'
import { number, plural, span } from '../../kit/text/format.ts'

export function AttemptFacts({ job, policy }: { readonly job: Job; readonly policy: Policy }) {
  const { timeout, maxAttempts } = policy
  return (
    <>
      <Fact name="Attempts">
        {number(job.attempt)} of {number(maxAttempts.attempts)}
        <From source={maxAttempts.from} />
        {job.crashes > 0 && (
          <span className="text-dead">, {plural(job.crashes, 'crash', 'crashes')} while running</span>
        )}
      </Fact>
      <Fact name="Timeout">
        <Known source={timeout.from}>{timeoutText(timeout)}</Known>
      </Fact>
      {job.minVersion !== null && <Fact name="Handler version">{job.minVersion} or later</Fact>}
    </>
  )
}

/** Separate, because its text is the longest of the facts. */
export function BackoffFact({ policy: { backoff } }: { readonly policy: Policy }) {
  return (
    <Fact name="Backoff">
      <Known source={backoff.from}>{backoffText(backoff)}</Known>
    </Fact>
  )
}

type Source = Policy['timeout']['from']

const FROM: Readonly<Record<Source, string>> = {
  job: 'from the job',
  kind: 'from the kind',
  queue: 'from the queue',
  payload: 'from the payload',
  default: 'default',
  unknown: '',
}

function From({ source }: { readonly source: Source }) {
  return FROM[source] === '' ? null : <span className="text-soft"> ({FROM[source]})</span>
}

function Known({ source, children }: { readonly source: Source; readonly children: ReactNode }) {
  if (source === 'unknown')
    return (
      <span className="text-soft" title="The process that serves this dashboard does not define this kind">
        kind default
      </span>
    )
  return (
    <>
      {children}
      <From source={source} />
    </>
  )
}

function timeoutText({ ms, from }: Policy['timeout']): string {
  if (ms === null) return from === 'payload' ? 'set' : 'none'
  return `${span(ms)} per attempt`
}

function backoffText({ type, baseMs, maxMs, isRandom }: Policy['backoff']): string {
  if (type === 'off') return 'off, retries immediately'
  if (baseMs === null) return 'computed'
  const doubled = maxMs === null ? '' : `, doubled up to ${span(maxMs)}`
  return `${span(baseMs)}${doubled}${isRandom ? ', with jitter' : ''}`
}
