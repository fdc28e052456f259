import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A machine with nothing but what a test puts on it: no real build, which takes minutes. */
export interface FakeMachine {
  /** Of this test. */
  readonly directory: string
  /** With an empty cache and a `PATH` with one folder. */
  readonly environment: Readonly<Record<string, string>>
  /** Puts a shell script on the `PATH`. */
  install(program: string, body?: string): Promise<void>
  /**
   * Puts a `go` on the `PATH` that writes the program that `-o` names, after `body`. `go mod download -json NAME` says that the module is in
   * `<directory>/modules/NAME`.
   */
  installGo(body?: string): Promise<void>
  /** The command lines of `go` so far. */
  goCalls(): Promise<readonly string[]>
  remove(): Promise<void>
}

export async function fakeMachine(): Promise<FakeMachine> {
  const directory = await mkdtemp(join(tmpdir(), 'backporch-find-'))
  const [bin, calls] = [join(directory, 'bin'), join(directory, 'calls')]
  const install = (program: string, body = ''): Promise<void> =>
    writeScript(join(bin, program), body)
  return {
    directory,
    // /bin and /usr/bin would bring a real go with them on some machines: scripts call programs by their paths.
    environment: { XDG_CACHE_HOME: join(directory, 'cache'), PATH: bin },
    install,
    installGo: (body = '') =>
      install(
        'go',
        `echo "$@" >> ${calls}
if [ "$1" = mod ]; then echo "{\\"Dir\\":\\"${directory}/modules/$4\\"}"; exit; fi
${body}
while [ "$1" != -o ]; do shift; done
echo binary > "$2"
/bin/chmod +x "$2"`,
      ),
    goCalls: async () =>
      (await readFile(calls, 'utf8').catch(() => '')).split('\n').filter((line) => line !== ''),
    remove: () => rm(directory, { recursive: true }),
  }
}

/** Also where the folder is not there yet. */
export async function writeScript(path: string, body: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `#!/bin/sh\n${body}\n`)
  await chmod(path, 0o755)
}
