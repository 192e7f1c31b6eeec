/** Removes options that were not passed. */
type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Removes undefined values: the library distinguishes an omitted option from an undefined one. */
export function omitUndefined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>
}
