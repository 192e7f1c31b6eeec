/** Heads and rows line up where there is room for columns. */
export const COLUMNS = 'lg:grid lg:grid-cols-[minmax(0,1fr)_6rem_4.5rem_4.5rem_7.5rem_7.5rem] lg:gap-x-4'
