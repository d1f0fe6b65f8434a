import pytest

from canvas import CanvasPlan, InvalidRead, Rounds, Slot
from canvas.rounds import gather

PLANS = tuple(CanvasPlan((number,), (5,), (Slot(0, ((1,), (2,))),), b"") for number in range(9))


def member(*rounds: int) -> Rounds[float]:
    """Asks for so many plans each round, and returns the sum of the first log-probabilities that it was sent."""
    total = 0.0
    for number in rounds:
        reads = yield PLANS[:number]
        assert len(reads) == number
        total += sum(read[0][0] for read in reads)
    return total


def run(rounds: Rounds[tuple[float, ...]]) -> tuple[tuple[float, ...], list[int]]:
    sizes: list[int] = []
    try:
        batch = next(rounds)
        while True:
            sizes.append(len(batch))
            batch = rounds.send(tuple(((float(index),),) for index in range(len(batch))))
    except StopIteration as stop:
        return stop.value, sizes


def test_members_share_rounds_and_get_their_own_reads() -> None:
    assert run(gather([member(2, 1), member(), member(1), member(3, 2, 1)])) == ((1.0, 0.0, 2.0, 15.0), [6, 3, 1])


def test_members_that_ask_nothing_cost_no_round() -> None:
    assert run(gather([member(), member()])) == ((0.0, 0.0), [])
    assert run(gather([])) == ((), [])


@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_wrong_number_of_reads_is_refused(number: int) -> None:
    rounds = gather([member(1), member(1)])
    next(rounds)
    with pytest.raises(InvalidRead, match=f"{number} reads for 2 plans"):
        rounds.send((((-1.0,),),) * number)
