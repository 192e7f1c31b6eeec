/** A line of a chart. */
export interface Line {
  readonly name: string
  /** The name of a theme color: `done`, `dead`, `accent`. */
  readonly colour: string
  readonly values: readonly (number | null)[]
  /** For a line that often covers another one. */
  readonly isDashed?: boolean
}
