/** The observed metrics, and their tolerated growth. */
import type { Tolerance } from './flatness.ts'

/** A sample of the mill's process, after garbage collection. */
export interface ProcessSample {
  /** In bytes, without compiled code. */
  readonly heap: number
  readonly native: number
  readonly rss: number
  /** Active timers, sockets and requests. */
  readonly resources: number
  /** Open files and sockets. */
  readonly files: number
  /** Listeners on `process`. */
  readonly listeners: number
}

/** A sample of the database. */
export interface DatabaseSample {
  readonly rows: number
  /** In bytes. */
  readonly size: number
}

export type Sample = ProcessSample & DatabaseSample & { readonly atMs: number; readonly acknowledged: number }
export type Figure = keyof ProcessSample | keyof DatabaseSample

interface About extends Tolerance {
  readonly what: string
  readonly isBytes: boolean
}

const MB = 1024 ** 2

export const FIGURES: Readonly<Record<Figure, About>> = {
  heap: { what: 'objects on the heap, after gc', isBytes: true, share: 0.03, least: 0.3 * MB },
  native: { what: 'memory outside of the heap', isBytes: true, share: 0.1, least: 0.5 * MB },
  rss: { what: 'resident memory', isBytes: true, share: 0.05, least: 4 * MB },
  // They vary with the load by a few.
  resources: { what: 'active resources', isBytes: false, share: 0.1, least: 3 },
  files: { what: 'open files and sockets', isBytes: false, share: 0, least: 2 },
  listeners: { what: 'listeners of the process', isBytes: false, share: 0, least: 0.5 },
  rows: { what: 'rows', isBytes: false, share: 0.05, least: 100 },
  size: { what: 'size of the database', isBytes: true, share: 0.05, least: 1 * MB },
}

export const FIGURE_NAMES = Object.keys(FIGURES) as readonly Figure[]

export function shownFigure(figure: Figure, value: number): string {
  return FIGURES[figure].isBytes ? `${(value / MB).toFixed(1)} MB` : Math.round(value).toLocaleString('en')
}
