/** Like kubectl's. */
import { stripVTControlCharacters } from 'node:util'
import type { ResourceId } from '@backporch/kyaml/resource'
import { convertToOneLine } from '@backporch/kyaml/text'
import { InvalidArgumentError } from '@commander-js/extra-typings'
import type { Printer } from './printer.ts'

export interface Column<Row> {
  readonly name: string
  readonly value: (row: Row) => string
  /** Only with `-o wide`. */
  readonly wide?: boolean
}

interface TableOptions {
  readonly headers: boolean
  readonly wide: boolean
  /** Undefined: the default ones. */
  readonly columns: readonly string[] | undefined
  /** Wider rows increase them. */
  readonly widths?: number[] | undefined
}

const GAP = 3
const CELL_LIMIT = 300

/** No rows give the head alone. */
export function formatTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  options: TableOptions,
): string {
  const shown =
    options.columns === undefined
      ? columns.filter(({ wide }) => wide !== true || options.wide)
      : options.columns.flatMap((name) =>
          columns.filter((column) => column.name === name.toUpperCase()),
        )
  // Text from a cluster or git must add no line breaks or colours.
  const cells = rows.map((row) =>
    shown.map(({ value }) => convertToOneLine(value(row), CELL_LIMIT).trimEnd() || '-'),
  )
  const lines = options.headers ? [shown.map(({ name }) => name), ...cells] : cells
  const widths = computeColumnWidths(lines).map((width, index) =>
    Math.max(options.widths?.[index] ?? 0, width),
  )
  options.widths?.splice(0, widths.length, ...widths)
  return lines.map((line) => `${alignCells(line, widths, GAP)}\n`).join('')
}

export function computeColumnWidths(rows: readonly (readonly string[])[]): number[] {
  return (rows[0] ?? []).map((_cell, column) =>
    rows.reduce((most, row) => Math.max(most, measureTextWidth(row[column] ?? '')), 0),
  )
}

export function alignCells(
  cells: readonly string[],
  widths: readonly number[],
  gap: number,
): string {
  const padded = cells.map(
    (cell, column) =>
      cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - measureTextWidth(cell))),
  )
  return padded.join(' '.repeat(gap)).trimEnd()
}

/** Without colour codes. */
export function measureTextWidth(text: string): number {
  return Array.from(stripVTControlCharacters(text)).length
}

/** @throws InvalidArgumentError for an unknown column */
export function checkColumns<Row>(
  names: readonly string[] | undefined,
  columns: readonly Column<Row>[],
): readonly string[] | undefined {
  const known = columns.map(({ name }) => name)
  const wrong = names?.find((name) => !known.includes(name.toUpperCase()))
  if (wrong !== undefined)
    throw new InvalidArgumentError(
      `there is no column ${wrong}; the columns are ${known.join(', ').toLowerCase()}`,
    )
  return names
}

interface Rows<Row> {
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly nameOf: (row: Row) => string
  /** For later rows of a watch. */
  readonly widths?: number[]
  /** Unless `--no-headers`. */
  readonly headers?: boolean
}

/** @throws InvalidArgumentError for an unknown column */
export function printRows<Row>(
  { rows, columns, nameOf, widths, headers = true }: Rows<Row>,
  printer: Printer,
): void {
  const { output, options } = printer
  const table = {
    headers: headers && options.headers !== false,
    wide: output === 'wide',
    columns: checkColumns(options.columns, columns),
    widths,
  }
  if (output === 'name') printNames(rows.map(nameOf), printer)
  else printer.write(formatTable(rows, columns, table))
}

export function printNames(names: readonly string[], printer: Printer): void {
  printer.write(names.map((name) => `${convertToOneLine(name, 300)}\n`).join(''))
}

/** As kubectl takes it. */
export function formatObjectWord({ kind, name }: Pick<ResourceId, 'kind' | 'name'>): string {
  return `${kind.toLowerCase()}/${name}`
}
