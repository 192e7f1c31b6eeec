/** A check: the data it needs, what it finds, and how its findings become diagnostics. */
import type { CheckName, Subject } from '../../job/alert/check-names.ts'
import type { Diagnostic } from '../../store/admin/admin.ts'

interface About {
  readonly what: Subject | null
  readonly name: string | null
}

export interface MillDiagnostic extends Diagnostic<CheckName> {
  readonly about: About
}

/** Without a fix, the check passed. */
export interface Found {
  readonly message: string
  readonly fix?: string
  readonly name?: string
  /** What it is about, if that depends on what was found. */
  readonly what?: About['what']
  /** Defaults to `warning`. */
  readonly level?: Exclude<Diagnostic['level'], 'ok'>
  /** Failures per minute: of problems with the same level, the one with the most comes first. */
  readonly weight?: number
}

export interface Check<Of> {
  readonly check: CheckName
  readonly about: About['what']
  readonly find: (scene: Of) => readonly Found[]
}

/** In the order of the list, after the findings with a weight. */
export function runChecks<Of>(checks: readonly Check<Of>[], scene: Of): MillDiagnostic[] {
  return checks
    .flatMap(({ check, about, find }) => find(scene).map((found) => ({ check, about, found })))
    .toSorted((a, b) => (b.found.weight ?? 0) - (a.found.weight ?? 0))
    .map(({ check, about, found: { message, fix = null, name = null, ...found } }) => ({
      check,
      level: fix === null ? 'ok' : (found.level ?? 'warning'),
      message,
      fix,
      about: { what: found.what ?? (name === null ? null : about), name },
    }))
}

/** Errors first, then warnings, then notices, each in the given order. Passed checks are left out. */
export function worstFirst(all: readonly MillDiagnostic[]): NeedsAttention[] {
  return (['error', 'warning', 'notice'] as const).flatMap((level) =>
    all.filter((one): one is NeedsAttention => one.level === level),
  )
}

/** A diagnostic that is an error, a warning or a notice. */
export interface NeedsAttention extends MillDiagnostic {
  readonly level: Exclude<Diagnostic['level'], 'ok'>
  readonly fix: string
}
