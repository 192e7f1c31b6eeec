/** Collects the parameters of a statement that depends on a filter. */
export type Values = ReturnType<typeof collectValues>

export function collectValues() {
  const list: unknown[] = []
  /** Returns the placeholder. */
  const add = (value: unknown): string => `$${list.push(value)}`
  return {
    list,
    add,
    /** The condition for a value of the filter, if it is set. */
    test: (value: unknown, condition: (placeholder: string) => string): string[] =>
      value === undefined ? [] : [condition(add(value))],
  }
}
