import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** Path of a program that can be run, or undefined. Only absolute folders of the PATH count. */
export function findProgram(program: string, path: string): string | undefined {
  const files = program.includes('/')
    ? [program]
    : path.split(delimiter).map((folder) => join(folder, program))
  return files.filter(isAbsolute).find((file) => {
    try {
      accessSync(file, constants.X_OK)
      return statSync(file).isFile()
    } catch {
      return false
    }
  })
}
