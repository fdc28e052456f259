import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** Only absolute PATH folders count. */
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
