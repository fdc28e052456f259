import { readFile } from 'node:fs/promises'
import type { Environment } from './child-environment.ts'

/** An empty variable is not set. */
export function getSetting(environment: Environment, name: string): string | undefined {
  return environment[name]?.trim() || undefined
}

/** Some secret stores keep only one line: PEM then has `\n` for line breaks. */
export function restoreLineBreaks(text: string): string {
  return text.includes('\n') ? text : text.replaceAll('\\n', '\n')
}

/** @param most bytes @returns `problem` is the file system's code; a too large file has none */
export async function readKeyFile(
  path: string,
  most: number,
): Promise<{ readonly text: string } | { readonly problem: string | undefined }> {
  try {
    const content = await readFile(path)
    return content.length <= most ? { text: content.toString('utf8') } : { problem: undefined }
  } catch (thrown) {
    return {
      problem: thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown error',
    }
  }
}
