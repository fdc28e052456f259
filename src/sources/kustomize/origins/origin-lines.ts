import { formatRedactedPath } from '@backporch/kyaml/redaction'
import type { FileLocation } from '../../build/adopt/source-document.ts'
import type { FieldWrite } from './field-history.ts'
import type { BuiltOrigin, PartWrite } from './kustomize-origins.ts'

const NOWHERE = 'no file was found that sets it'

export function formatBuiltOriginLines({
  authored,
  nearest,
  isBuilt,
  writers,
  isExplained,
  notes,
}: BuiltOrigin): readonly string[] {
  const isCreated = writers.some(({ does }) => does !== 'may write')
  const nowhere = isBuilt ? NOWHERE : `not there; it would go into ${nearest.file}:${nearest.line}`
  const first =
    authored !== undefined
      ? [formatFileLocation(authored)]
      : isCreated || (isBuilt && writers.length > 0)
        ? []
        : [nowhere]
  const isFight = isExplained && writers.length + (authored === undefined ? 0 : 1) > 1
  const lines = writers.map((writer, position) => {
    const decides = writer.decides === undefined ? '' : ` ${writer.decides}`
    return `${writeText(writer)}${isFight && position === writers.length - 1 && writer.does === 'writes' ? `, which decides${decides}` : ''}`
  })
  return [
    ...first,
    ...lines,
    ...(authored === undefined && !isCreated && writers.length === 0 ? [] : notes),
  ]
}

const DOES: { readonly [does in FieldWrite['does']]: string } = {
  writes: 'written',
  removes: 'removed',
  'may write': 'may be written',
}

function writeText({ does, by, at, part }: PartWrite): string {
  const what =
    part.length === 0 ? DOES[does] : `${formatRedactedPath(part, undefined)} ${DOES[does]}`
  const [own, from] = [
    at.filter(({ source }) => source === undefined),
    at.find(({ source }) => source !== undefined),
  ]
  const locations = own.map(
    ({ location, name }) =>
      `${formatFileLocation(location)}${name === undefined ? '' : ` (${name})`}`,
  )
  return `${what} by ${by} ${locations.join(' and ')}${from === undefined ? '' : `, from ${from.source === 'file' ? `the file ${from.location.file}` : formatFileLocation(from.location)}`}`
}

function formatFileLocation({ file, line, column }: FileLocation): string {
  return line === 0 ? file : `${file}:${line}:${column}`
}
