/** Counts what is open at once, for each caller and in all. Each open place holds a connection, so both are bounded. */
export interface PlaceBounds {
  readonly perCaller: number
  readonly total: number
}

export interface Places {
  /** A function that gives the place back (calling it again changes nothing), or which bound was reached. */
  readonly open: (caller: string) => (() => void) | 'caller' | 'total'
}

export function places({ perCaller, total }: PlaceBounds): Places {
  /** Callers without an open place are not in it. */
  const byCaller = new Map<string, number>()
  let all = 0
  function close(caller: string): void {
    all -= 1
    const left = (byCaller.get(caller) ?? 1) - 1
    if (left > 0) byCaller.set(caller, left)
    else byCaller.delete(caller)
  }
  return {
    open(caller) {
      const own = byCaller.get(caller) ?? 0
      if (own >= perCaller) return 'caller'
      if (all >= total) return 'total'
      all += 1
      byCaller.set(caller, own + 1)
      let isOpen = true
      return () => {
        if (isOpen) close(caller)
        isOpen = false
      }
    },
  }
}
