/** Where a command's output goes. Progress and colour are for terminals alone. */
export type Terminal = {
  readonly isTty: boolean
  readonly width: number
  readonly height: number
  /** Result lines: standard output. */
  print(line: string): void
  /** Progress lines: standard error. */
  progress(line: string): void
  /** Replaces the block that was drawn last by these lines. */
  redraw(lines: readonly string[]): void
}

/** The process's own terminal. */
export function createTerminal(
  output: NodeJS.WriteStream = process.stdout,
  errors: NodeJS.WriteStream = process.stderr,
): Terminal {
  let drawn = 0
  return {
    get isTty() {
      return output.isTTY === true
    },
    get width() {
      return output.columns ?? 160
    },
    get height() {
      return output.rows ?? 40
    },
    print: (line) => {
      drawn = 0
      output.write(`${line}\n`)
    },
    progress: (line) => {
      drawn = 0
      errors.write(`${line}\n`)
    },
    redraw: (lines) => {
      const up = drawn > 0 ? `\x1B[${drawn}A\x1B[0J` : ''
      output.write(`${up}${lines.join('\n')}\n`)
      drawn = lines.length
    },
  }
}
