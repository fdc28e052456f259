import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Failure } from '@backporch/kyaml/failure'

/**
 * As in kpt.
 * @throws Failure BP1001 if the name exists
 */
export function checkNewFolder(path: string): void {
  if (!existsSync(path)) return
  throw new Failure({
    code: 'BP1001',
    what: `${basename(path)} already exists`,
    where: path,
    why: 'rendered files are written only into a new folder, so that no existing file is lost',
    remedy: 'delete it, or name another folder',
  })
}

/**
 * Complete or missing, by rename.
 * @throws Failure BP1001 if the name exists, BP4008 if writing fails
 */
export function writeNewFolder(path: string, files: ReadonlyMap<string, string>): void {
  checkNewFolder(path)
  let created: string | undefined
  try {
    mkdirSync(dirname(path), { recursive: true })
    created = mkdtempSync(join(dirname(path), `.${basename(path)}-`))
    const folder = join(created, basename(path))
    mkdirSync(folder)
    for (const [file, text] of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
    renameSync(folder, path)
  } catch (thrown) {
    throw new Failure({
      code: 'BP4008',
      what: 'the rendered files cannot be written',
      where: path,
      why: thrown instanceof Error ? thrown.message : String(thrown),
      remedy: 'name a folder that you may write, on a disk that has room',
      cause: thrown,
    })
  } finally {
    if (created !== undefined) rmSync(created, { recursive: true, force: true })
  }
}
