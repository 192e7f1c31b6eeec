/**
 * Merges several index ranges (claim lanes) into one order. Each lane is already sorted. The merge repeatedly
 * takes the first row of all lanes, and reads lanes in pieces, so that the cost depends on the number of rows
 * taken.
 */

export interface Lane<Row> {
  /** The next rows after `after`, in order; fewer than `rows` when the lane ends. */
  fetch(after: Row | undefined, rows: number): Row[]
  /** How many rows may still be taken, shared by several lanes. */
  readonly room?: { left: number }
}

interface Front<Row> {
  readonly lane: Lane<Row>
  rows: Row[]
  at: number
  ended: boolean
}

const SMALLEST_READ = 16

/** At most `limit` rows of all lanes, by `compare`. */
export function mergeLanes<Row>(
  lanes: readonly Lane<Row>[],
  compare: (a: Row, b: Row) => number,
  limit: number,
): Row[] {
  const [only] = lanes
  if (only !== undefined && lanes.length === 1) return takeFrom(only, limit)
  const piece = Math.min(limit, Math.max(SMALLEST_READ, Math.ceil(limit / lanes.length)))
  const fronts = lanes.map((lane): Front<Row> => ({ lane, rows: [], at: 0, ended: false }))
  const taken: Row[] = []
  while (taken.length < limit) {
    let best: Front<Row> | undefined
    let bestRow: Row | undefined
    for (const front of fronts) {
      const row = peek(front, piece)
      if (row === undefined || (bestRow !== undefined && compare(row, bestRow) >= 0)) continue
      best = front
      bestRow = row
    }
    if (best === undefined || bestRow === undefined) break
    best.at += 1
    if (best.lane.room !== undefined) best.lane.room.left -= 1
    taken.push(bestRow)
  }
  return taken
}

function takeFrom<Row>(lane: Lane<Row>, limit: number): Row[] {
  const most = Math.min(limit, lane.room?.left ?? limit)
  const taken = most > 0 ? lane.fetch(undefined, most) : []
  if (lane.room !== undefined) lane.room.left -= taken.length
  return taken
}

function peek<Row>(front: Front<Row>, piece: number): Row | undefined {
  const { lane } = front
  const room = lane.room?.left ?? piece
  if (room <= 0) return undefined
  if (front.at >= front.rows.length && !front.ended) {
    const rows = Math.min(piece, room)
    front.rows = lane.fetch(front.rows.at(-1), rows)
    front.at = 0
    front.ended = front.rows.length < rows
  }
  return front.rows[front.at]
}
