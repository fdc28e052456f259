/** The build tool that runs a command. The program does not report where its objects come from. */
import type { DesiredResource, SourceLocation } from '@backporch/kpt/desired-set'
import { PACKAGE_FILE } from '@backporch/kpt/package'
import { type FieldPath, findValueAt } from '@backporch/kyaml/field'
import type { BuildTool, BuiltSource } from '../build/built-source.ts'
import { sortFiles } from '../programs/package-builder.ts'

export const COMMAND_TOOL: BuildTool = {
  name: 'command',
  asksCluster: false,
  order: ({ folder, files, command }) => ({
    tool: 'command',
    folder,
    command,
    files: sortFiles([...files.values()]),
  }),
  keepsOrigins: () => true,
  locationsIn: (source) => (_object, _text, line) => createLocation(source, line),
  originOf: (source) => (desired, path) => [describeOrigin(source, desired, path)],
  locator: {
    why: 'a command prints the object and does not show where the value comes from',
    refusal: ({ command }) => ({
      why: `the command ${JSON.stringify(command.join(' ').slice(0, 120))} prints the object and does not show where the value comes from`,
      remedy: 'edit what the command reads by hand and commit it, or choose restore',
    }),
  },
}

function createLocation({ packagePath, command }: BuiltSource, line: number): SourceLocation {
  const path = packagePath === '' ? PACKAGE_FILE : `${packagePath}/${PACKAGE_FILE}`
  const name = (command[0] ?? '').replace(/^.*\//, '')
  return {
    path,
    document: 0,
    item: undefined,
    line: 1,
    step: `${name}, line ${line} of its output`,
  }
}

function describeOrigin(
  { command }: BuiltSource,
  { object }: DesiredResource,
  path: FieldPath,
): string {
  const name = command.join(' ')
  return findValueAt(object, path) === undefined
    ? `not there; the object is printed by ${name}`
    : `printed by ${name}`
}
