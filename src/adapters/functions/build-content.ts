/** What the files of a build say about its output. */
import type { Build } from '../../sources/programs/package-builder.ts'

export const ENABLE_HELM = '--enable-helm'

export function runsHelm({ tool, command }: Build): boolean {
  return tool === 'helm' || (tool === 'kustomize' && command.includes(ENABLE_HELM))
}

/** Functions of charts that give another value each time (Masterminds/sprig `functions.go`). */
const VARYING =
  /\{\{(?:[^}]|\}(?!\}))*?\b(?:rand[A-Z]\w*|gen[A-Z]\w*|uuidv4|now|ago|shuffle|htpasswd|bcrypt|encryptAES|buildCustomCert)\b/

/** Whether the program may print something else the next time. */
export function mayVary(build: Build): boolean {
  if (!runsHelm(build)) return build.tool === 'command'
  const { files } = build
  // What is in an archive is not read.
  return files.some(
    ({ path, content }) => path.endsWith('.tgz') || VARYING.test(new TextDecoder().decode(content)),
  )
}

/** Whether it reads or prints Secrets, as far as its files say. */
export function hasSecrets(build: Build): boolean {
  return (
    build.hasSecrets === true ||
    build.files.some(({ content }) => namesSecret(new TextDecoder().decode(content)))
  )
}

export function namesSecret(text: string): boolean {
  return /secretGenerator|\bkind["']?\s*:\s*["']?Secret\b/.test(text)
}
